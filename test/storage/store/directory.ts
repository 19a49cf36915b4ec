/** Creates a temporary directory for a test, together with a function that removes it. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export async function temporaryDirectory(): Promise<{ directory: string; removeDirectory(): Promise<void> }> {
  const directory = await mkdtemp(join(tmpdir(), 'orch-store-'))
  return { directory, removeDirectory: () => rm(directory, { recursive: true, force: true }) }
}
