/* Writes what was learned of a program as a model file. */
#ifndef CULPRIT_PROGRAM_MODEL_WRITE_H
#define CULPRIT_PROGRAM_MODEL_WRITE_H

struct buf;
struct learned;

/* The bytes of the file; the same for the same program, whatever it was learned with. */
void model_write(const struct learned *l, struct buf *image);

#endif
