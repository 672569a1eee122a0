/* Tells which PyTorch runs by the ELF build ids of its libraries.
 *
 * A library compiled for another release loads cleanly and then corrupts memory (dispatch keys and
 * object sizes differ), so nothing that is compiled against PyTorch may be opened before this
 * check. A build id stands for release, git version, compiler and ABI at once, and is in memory: no
 * symbol of PyTorch is called. */
#define _GNU_SOURCE
#include "identity.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "supported_torch.h"

enum { kIdText = 2 * 64 + 1 };

struct module {
  const char* name; /* what the file name must be */
  char path[4096];
  char id[kIdText];
};

static void hex(const unsigned char* bytes, unsigned count, char* out) {
  static const char digits[] = "0123456789abcdef";
  if (count > (kIdText - 1) / 2) count = (kIdText - 1) / 2;
  for (unsigned i = 0; i < count; ++i) {
    out[2 * i] = digits[bytes[i] >> 4];
    out[2 * i + 1] = digits[bytes[i] & 15];
  }
  out[2 * count] = '\0';
}

static void read_build_id(const char* note, const char* end, char* out) {
  while (note + sizeof(ElfW(Nhdr)) <= end) {
    const ElfW(Nhdr)* header = (const ElfW(Nhdr)*)note;
    const char* name = note + sizeof(*header);
    const char* data = name + ((header->n_namesz + 3u) & ~3u);
    if (header->n_type == NT_GNU_BUILD_ID && header->n_namesz == 4 && !memcmp(name, "GNU", 4)) {
      hex((const unsigned char*)data, header->n_descsz, out);
      return;
    }
    note = data + ((header->n_descsz + 3u) & ~3u);
  }
}

static int visit(struct dl_phdr_info* info, size_t size, void* argument) {
  (void)size;
  struct module* modules = argument;
  const char* slash = strrchr(info->dlpi_name, '/');
  const char* file = slash ? slash + 1 : info->dlpi_name;
  for (struct module* module = modules; module->name; ++module) {
    if (strcmp(file, module->name) != 0 || module->path[0]) continue;
    snprintf(module->path, sizeof module->path, "%s", info->dlpi_name);
    for (unsigned i = 0; i < info->dlpi_phnum && !module->id[0]; ++i) {
      const ElfW(Phdr)* segment = &info->dlpi_phdr[i];
      if (segment->p_type != PT_NOTE) continue;
      const char* start = (const char*)(info->dlpi_addr + segment->p_vaddr);
      read_build_id(start, start + segment->p_memsz, module->id);
    }
  }
  return 0;
}

/* The release that the wheel or the LibTorch archive says it is, for the message only. */
static void installed_release(const char* library, char* out, size_t size) {
  static const char* const files[] = {"/../version.py", "/../build-version"};
  snprintf(out, size, "unknown release");
  for (unsigned i = 0; i < sizeof files / sizeof *files; ++i) {
    char path[4200];
    char line[256];
    const char* slash = strrchr(library, '/');
    if (!slash) return;
    snprintf(path, sizeof path, "%.*s%s", (int)(slash - library), library, files[i]);
    FILE* file = fopen(path, "r");
    if (!file) continue;
    while (fgets(line, sizeof line, file)) {
      line[strcspn(line, "\r\n")] = '\0';
      char quoted[128];
      if (sscanf(line, "__version__ = '%127[^']'", quoted) == 1) {
        snprintf(out, size, "%s", quoted);
        break;
      }
      if (i == 1) {
        snprintf(out, size, "%.127s", line);
        break;
      }
    }
    fclose(file);
    return;
  }
}

const char* devsan_find_observer(char* why, unsigned long why_size) {
  struct module modules[3];
  memset(modules, 0, sizeof modules);
  modules[0].name = "libtorch_cpu.so";
  modules[1].name = "libc10.so";
  dl_iterate_phdr(visit, modules);
  for (unsigned i = 0; i < sizeof kSupportedTorch / sizeof *kSupportedTorch; ++i) {
    const struct supported_torch* torch = &kSupportedTorch[i];
    if (!strcmp(modules[0].id, torch->torch_cpu_build_id) &&
        !strcmp(modules[1].id, torch->c10_build_id)) {
      return torch->observer;
    }
  }
  char release[128];
  installed_release(modules[0].path, release, sizeof release);
  snprintf(
      why, why_size,
      "this process runs PyTorch %s (libtorch_cpu.so build id %.16s), this DevSan was built for "
      "%s (build id %.16s): the program goes on untraced",
      release, modules[0].id[0] ? modules[0].id : "none", kSupportedTorch[0].release,
      kSupportedTorch[0].torch_cpu_build_id);
  return NULL;
}
