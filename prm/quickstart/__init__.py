"""The main job from nothing: data, base model, split, training, scores, evaluation."""
