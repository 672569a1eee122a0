// Which files to analyse: from files and folders on the command line to an ordered list.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace devsan::lint {

struct SourceFiles {
  std::vector<std::string> units;    // absolute, in order: each is parsed on its own
  std::vector<std::string> headers;  // found in folders: parsed alone only if no unit included them
  std::vector<std::string> archives;  // TorchScript, given by name
  std::vector<std::string> roots;     // project folders of what was given
};

// Throws std::invalid_argument with one line when a path does not exist or holds no C++.
SourceFiles collect_files(const std::vector<std::string>& paths);

// The folder that a project starts in: the nearest one above with a .git, CMakeLists.txt, setup.py
// or the like; the path's own folder when there is none.
std::filesystem::path project_root_of(const std::filesystem::path& path);

// True for folders whose code is not the project's own: third_party, vendor, build, .git, ...
bool is_foreign_folder(const std::string& name);

// Absolute and without dots, links left alone: findings keep the names that the user knows.
std::string absolute_path(const std::string& path);

bool is_header(const std::filesystem::path& path);

bool is_cuda(const std::filesystem::path& path);  // .cu, .cuh

}  // namespace devsan::lint
