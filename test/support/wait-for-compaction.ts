/**
 * Waits until a server has compacted a version of the ConfigMaps. The ConfigMaps must have changed since that version.
 */
import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import type { Client } from '../../src/client/requests/client.ts'
import { isExpired } from '../../src/client/requests/status-error.ts'
import { TransportError } from '../../src/client/requests/transport.ts'
import { configMaps } from './resource-types.ts'

/** Poll with lists, because a watch would make the server keep versions that its store has not compacted yet. */
export async function waitForCompaction(client: Client, resourceVersion: string): Promise<void> {
  const exactly = { resourceVersion, resourceVersionMatch: 'Exact', limit: 0 } as const
  await assert.rejects(async () => {
    for (let i = 0; i < 3_000; i++) {
      await client.list(configMaps, exactly).catch(ignoreBroken)
      await pause(20)
    }
  }, isExpired)
}

/**
 * Ignores the error if a response breaks off, because the requested version may have been compacted in the meantime.
 */
function ignoreBroken(error: unknown): void {
  if (!(error instanceof TransportError)) throw error
}
