# SPDX-License-Identifier: Apache-2.0
"""All crash tests: python3 main.py BUILD_DIR. Called by run.sh."""
import harness
import job
import scarce
import server
import store

store.cases(harness.case)
scarce.cases(harness.case)
server.cases(harness.case)
job.cases(harness.case)
harness.finish()
