/**
 * The directories for a test run's temporary files: one on disk and one in memory. `scratch.mjs` chooses between them
 * for each test file. The runner removes them when it exits. If the runner or a test process is killed, files remain.
 * Each run therefore first removes the directories of runs whose process has ended.
 */
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { inMemory, temporaryDirectoryIn } from '../../src/base/files/temporary-directory.ts'

const prefix = 'orch-tests-'

/** The environment variables that tell test processes where the directories are. */
export interface RunDirectories {
  readonly ORCH_TEST_DISK: string
  /** Undefined if all files are on disk. */
  readonly ORCH_TEST_MEMORY: string | undefined
}

/**
 * Creates the directories. If `chosen` is set, uses only this directory, which is the TMPDIR of a user who wants all
 * files in one place.
 */
export function makeRunDirectories(chosen: string | undefined): RunDirectories {
  const usesMemory = chosen === undefined && existsSync(inMemory)
  return {
    ORCH_TEST_DISK: temporaryDirectoryIn(chosen ?? tmpdir(), prefix),
    ORCH_TEST_MEMORY: usesMemory ? temporaryDirectoryIn(inMemory, prefix) : undefined,
  }
}
