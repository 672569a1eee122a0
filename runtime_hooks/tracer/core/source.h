// What a line of the program's source says: for reports, and for telling a device literal from a
// device that the program worked out.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/device.h"
#include "devsan/findings/finding.h"

namespace devsan::trace {

bool is_python_file(std::string_view file);

// The line's text without indentation; empty when it cannot be read.
std::string source_line(const std::string& file, int line);

// The statement that the line is part of: following lines are added until brackets close, at most
// five.
std::string source_statement(const std::string& file, int line);

// A device written out in the statement that `device` can have come from: "cuda:0", torch::kCUDA,
// Device(kCUDA, 1), .cuda(). The text of the literal as it stands there.
std::optional<std::string> device_literal(std::string_view statement, Device device);

// What `name = ...` or `name: type = ...` assigns to; empty for other statements.
std::string assigned_name(std::string_view statement);

// Where a Python function gives back what its line `line` made: the next `return` in it that has
// `name` in it, else the next one; 0 where there is none.
int return_line(const std::string& file, int line, const std::string& name);

// The text of the `def` that `line` is in, up to its colon; empty when there is none.
std::string enclosing_signature(const std::string& file, int line);

// Whether `name` stands in the text as a word of its own.
bool has_word(std::string_view text, const std::string& name);

// Arguments of the call that an op's name points to, as written: {"pooled", "head.weight"} of
// "y = linear(pooled, head.weight)" for aten::linear; the two sides of an operator for aten::add
// and the like. Empty when the statement does not have exactly one such call.
std::vector<std::string> call_arguments(std::string_view statement, std::string_view op);

}  // namespace devsan::trace
