"""Commands that read files of data, or describe them: schemas, storing, checking."""
