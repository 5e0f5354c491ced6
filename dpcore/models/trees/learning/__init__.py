"""Learning trees and forests: what sees records."""
