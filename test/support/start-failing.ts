/**
 * Runs a failing server start in the test's own process. Returns the exit code and the message that a separate process
 * would produce. `test/server/start.test.ts` checks real processes. The server has its own directory, which is removed
 * at the end.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PkiFileError } from '../../src/api/pki/files.ts'
import { parseFlags, UsageError } from '../../src/base/flags/flags.ts'
import { openLog } from '../../src/base/telemetry/log.ts'
import { startApiServer } from '../../src/server/assembly/api-server.ts'
import { serverFlags } from '../../src/server/flags/options.ts'
import { MemoryStore } from '../../src/storage/store/memory.ts'
import { StoreError } from '../../src/storage/store/store.ts'
import type { Ending } from './server.ts'

/** Flags, or a function that creates the flags together with files in the directory. */
export type FailingFlags = readonly string[] | ((directory: string) => readonly string[])

export async function startFailing(t: Ending, flags: FailingFlags): Promise<{ code: number; errors: string }> {
  const directory = mkdtempSync(join(tmpdir(), 'orch-test-'))
  t.after(async () => rmSync(directory, { recursive: true, force: true }))
  const own = ['--secure-port=0', `--data-dir=${directory}/data`, '--admin-kubeconfig=']
  const given = typeof flags === 'function' ? flags(directory) : flags
  let output = ''
  const log = openLog({ write: (line) => (output += line) })
  try {
    const options = parseFlags(serverFlags, [...own, ...given])
    const server = await startApiServer(options, { log, store: new MemoryStore() })
    await server.stop()
  } catch (error) {
    // Any other error would count as a bug and would be logged with its stack trace.
    if (!(error instanceof UsageError || error instanceof StoreError || error instanceof PkiFileError)) throw error
    return { code: 1, errors: `${output}orch: ${error.message}\n` }
  }
  throw new Error(`it was not refused: ${given.join(' ')}`)
}
