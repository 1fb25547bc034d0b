"""Examples written for this project, and the script that learns the weights of ``app/classify`` from them."""
