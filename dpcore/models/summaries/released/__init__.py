"""What is public about first looks: parameters, the released tables of counts, and how they are read."""
