"""One script per version. A published script is never edited: add another."""
