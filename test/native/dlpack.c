/* A library that makes and takes DLPack tensors, for test/dlpack.test.ts. The structs are those of the DLPack C API, versions 0 and 1. */
#include <stdint.h>
#include <stdlib.h>

typedef struct { int32_t type, index; } Device;
typedef struct { uint8_t code, bits; uint16_t lanes; } DataType;
typedef struct {
  void *data;
  Device device;
  int32_t ndim;
  DataType dtype;
  int64_t *shape, *strides;
  uint64_t byte_offset;
} Tensor;
typedef struct Managed {
  Tensor tensor;
  void *context;
  void (*deleter)(struct Managed *);
} Managed;
typedef struct Versioned {
  uint32_t major, minor;
  void *context;
  void (*deleter)(struct Versioned *);
  uint64_t flags;
  Tensor tensor;
} Versioned;

static int deletions;
int deleted(void) { return deletions; }

static void free_tensor(Tensor *t) {
  free(t->data);
  free(t->shape);
  free(t->strides);
  deletions++;
}
static void delete_managed(Managed *m) { free_tensor(&m->tensor); free(m); }
static void delete_versioned(Versioned *v) { free_tensor(&v->tensor); free(v); }

/* f32 elements 0, 1, 2, … of shape (rows, columns), after `offset` bytes of others; transposed: in F order. */
static void fill(Tensor *t, int device, int rows, int columns, int offset, int transposed, int with_strides) {
  char *bytes = malloc(offset + 4 * rows * columns + 4);
  float *data = (float *)(bytes + offset);
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++) data[transposed ? j * rows + i : i * columns + j] = i * columns + j;
  t->data = bytes;
  t->byte_offset = offset;
  t->device = (Device){device, 0};
  t->dtype = (DataType){2, 32, 1};
  t->ndim = 2;
  t->shape = malloc(16);
  t->shape[0] = rows;
  t->shape[1] = columns;
  t->strides = NULL;
  if (with_strides) {
    t->strides = malloc(16);
    t->strides[0] = transposed ? 1 : columns;
    t->strides[1] = transposed ? rows : 1;
  }
}
void *make_managed(int device, int rows, int columns, int offset, int transposed, int with_strides) {
  Managed *m = calloc(1, sizeof *m);
  fill(&m->tensor, device, rows, columns, offset, transposed, with_strides);
  m->deleter = delete_managed;
  return m;
}
void *make_versioned(int device, int rows, int columns, uint32_t major, uint64_t flags, uint8_t code, uint8_t bits) {
  Versioned *v = calloc(1, sizeof *v);
  fill(&v->tensor, device, rows, columns, 0, 0, 1);
  v->tensor.dtype = (DataType){code, bits, 1};
  v->major = major;
  v->minor = 1;
  v->flags = flags;
  v->deleter = delete_versioned;
  return v;
}
/* What a producer does with a tensor that nobody took. */
void destroy_versioned(void *p) { ((Versioned *)p)->deleter(p); }

static Tensor *tensor_of(void *p, int version) { return version ? &((Versioned *)p)->tensor : &((Managed *)p)->tensor; }
static double walk(Tensor *t, int axis, char *at, float add) {
  if (axis == t->ndim) {
    *(float *)at += add;
    return *(float *)at;
  }
  double sum = 0;
  for (int64_t k = 0; k < t->shape[axis]; k++) sum += walk(t, axis + 1, at + 4 * k * t->strides[axis], add);
  return sum;
}
/* Adds to all f32 elements in host memory and gives their sum. */
double add_to(void *p, int version, double value) {
  Tensor *t = tensor_of(p, version);
  return walk(t, 0, (char *)t->data + t->byte_offset, (float)value);
}
void finish(void *p, int version) {
  if (version) ((Versioned *)p)->deleter(p);
  else ((Managed *)p)->deleter(p);
}
/* What the fields say, one number each, to be compared. */
int64_t field(void *p, int version, int which) {
  Tensor *t = tensor_of(p, version);
  switch (which) {
    case 0: return t->device.type;
    case 1: return t->device.index;
    case 2: return t->ndim;
    case 3: return t->dtype.code;
    case 4: return t->dtype.bits;
    case 5: return t->dtype.lanes;
    case 6: return version ? (int64_t)((Versioned *)p)->major : -1;
    case 7: return version ? (int64_t)((Versioned *)p)->flags : -1;
    case 8: return (int64_t)t->data;
    default: return which < 20 ? t->shape[which - 10] : t->strides[which - 20];
  }
}
