/* A tool as NVTX 3 knows them: prints what it is told to the file that NVTX_TOOL_OUTPUT names. Structs and numbers are those of nvtxTypes.h. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef void (*Function)(void);
typedef struct {
  size_t size;
  int (*getModuleFunctionTable)(int module, Function ***table, unsigned int *count);
} Callbacks;
typedef struct {
  size_t size;
  uint32_t version;
  uint32_t reserved;
  void (*setVersion)(uint32_t);
} VersionInfo;

static FILE *out;
static uint64_t last = 1ull << 40;

static void mark(const char *name) { fprintf(out, "mark %s\n", name); fflush(out); }
static uint64_t start(const char *name) { fprintf(out, "start %s\n", name); fflush(out); return ++last; }
static void end(uint64_t range) { fprintf(out, "end %d\n", (int)(range - (1ull << 40))); fflush(out); }
static void name_thread(uint32_t thread, const char *name) { fprintf(out, "thread %s %s\n", thread ? "there" : "none", name); fflush(out); }

int InitializeInjectionNvtx2(const void *(*getExportTable)(uint32_t)) {
  const char *path = getenv("NVTX_TOOL_OUTPUT");
  out = path ? fopen(path, "w") : stderr;
  const Callbacks *callbacks = getExportTable(1);
  const VersionInfo *version = getExportTable(3);
  Function **table = NULL;
  unsigned int count = 0;
  if (!callbacks || callbacks->size != sizeof *callbacks || getExportTable(2)) return 0;
  version->setVersion(3);
  for (int module = 1; module <= 6; module++) {
    if (!callbacks->getModuleFunctionTable(module, &table, &count)) return 0;
    fprintf(out, "module %d: %u\n", module, count);
    for (unsigned int k = 1; k < count; k++) if (!table[k] || *table[k]) return 0;
  }
  if (callbacks->getModuleFunctionTable(7, &table, &count)) return 0;
  callbacks->getModuleFunctionTable(1, &table, &count);
  *table[2] = (Function)mark;
  *table[5] = (Function)start;
  *table[7] = (Function)end;
  *table[14] = (Function)name_thread;
  fprintf(out, "version %u\n", version->version);
  return 1;
}
