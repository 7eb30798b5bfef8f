"""Small classifiers over embeddings, trained when a pack is compiled."""
