"""Private decision trees and forests: exact lookahead trees, and the published learners."""
