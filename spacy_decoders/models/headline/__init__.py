"""What a headline's words and their order are worth."""
