"""An execution with branches and joins, from a seed."""
import json
import random

random.seed(10)
ids = []
for i in range(150):
    after = sorted({ids[random.randrange(max(0, i - 12), i)] for _ in range(random.choice((1, 1, 1, 2, 3)))}) if i else []
    ids.append(f"e{i}")
    print(json.dumps({"id": ids[-1], "request": "r1", "time": 1700000000000000000 + i // 3 * 1000, "node": f"h{i % 4}",
                      "process": f"p{i % 3}", "thread": "main", "point": "P" + str(random.randrange(5)),
                      "attrs": {"size": random.randrange(100)}, "after": after}))
