#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Kills and power losses: of the embedded store, and of jobs with checkpoints. docs/internals/testing.md says what each
# case proves. Under five minutes; MS_NIGHTLY=1 takes larger counts, MS_SEED another sequence of random moments.
#   tests/crash/run.sh [BUILD_DIR]      BUILD_DIR has a release build: build/release
set -eu
cd "$(dirname "$0")/../.."
exec python3 tests/crash/main.py "${1:-build/release}"
