"""What a business keeps: handovers to its people, in any SQL database that SQLAlchemy reaches."""
