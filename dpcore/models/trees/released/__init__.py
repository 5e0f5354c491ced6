"""Released trees and forests: what sees releases and public choices only."""
