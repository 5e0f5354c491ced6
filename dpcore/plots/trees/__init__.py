"""Figures of trees and forests."""
