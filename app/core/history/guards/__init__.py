"""What keeps a prompt within the model's window: pure decisions about tool outputs and turns, made once and kept."""
