"""What each part of a turn decides, as plain Python over contracts: reader, planner, documents, summarizer, memory."""
