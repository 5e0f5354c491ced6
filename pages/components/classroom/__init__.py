"""The classroom: a teacher's board and the places of students."""
