"""What single columns are by their names, who they identify, and what would make more of their values fit."""
