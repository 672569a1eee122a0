// Later flags win in clang: these undo what in a compile command would make it refuse the PCH.
#include "pch_flags.h"

#include <map>
#include <stdexcept>

#include "compile_flags.h"
#include "header_cache.h"
#include "source_files.h"
#include "torch_location.h"
#include "whole_files.h"

namespace devsan::lint {
namespace {

struct Wanted {
  FileFlags flags;
  HeaderSet set;
  std::string file;
};

}  // namespace

std::string pch_flags(const Options& options) {
  if (!options.cache) {
    throw std::invalid_argument("--print-pch-flags and --no-cache cannot be used together");
  }
  const SourceFiles files = collect_files(options.paths);
  FlagSource source(options.build_folder, find_torch(options.torch));
  std::map<std::string, Wanted> by_key;
  for (const std::string& file : files.units) {
    const FileFlags flags = source.flags_for(file);
    const HeaderSet set = header_set_for(read_file(file));
    by_key.try_emplace(HeaderCache::key_of(flags, set), Wanted{flags, set, file});
  }
  if (by_key.empty()) throw std::invalid_argument("--print-pch-flags: no C++ files given");
  if (by_key.size() > 1) {
    throw std::invalid_argument("--print-pch-flags: '" + by_key.begin()->second.file + "' and '" +
                                std::next(by_key.begin())->second.file +
                                "' need different PCHs; accepted: files of one kind");
  }
  const Wanted& wanted = by_key.begin()->second;
  HeaderCache headers(/*use_cache=*/true);
  const std::string pch = headers.pch_for(wanted.flags, wanted.set);
  std::string text;
  for (const std::string& argument :
       {"-std=" + wanted.flags.standard, std::string("-O0"), std::string("-fPIE"),
        std::string("-fno-openmp"), std::string("-frtti"), std::string("-fexceptions"),
        std::string("-include-pch"), pch}) {
    text += "--extra-arg=" + argument + "\n";
  }
  return text;
}

}  // namespace devsan::lint
