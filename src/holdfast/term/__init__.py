"""What a terminal shows and answers: queries taken out of output, their replies."""
