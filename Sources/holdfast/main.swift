print("holdfast")
