"""What anybody may know before seeing a record: columns, schemas, cells, conditions."""
