/** Helpers for tests of worker stores: several stores that act as one, and an unreliable connection to a worker. */
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import type { Batch, Store } from '../../../src/storage/store/store.ts'

/** Sends each call to the next worker, because the requests of one client may also reach different workers. */
export function inTurns(stores: readonly Store[]): Store {
  let calls = 0
  const next = () => stores[calls++ % stores.length]!
  return {
    commit: (write) => next().commit(write),
    revision: () => next().revision(),
    get: (key) => next().get(key),
    list: (range) => next().list(range),
    watch: (options) => next().watch(options),
    compact: (revision) => next().compact(revision),
    close: async () => void (await Promise.all(stores.map((store) => store.close()))),
  }
}

/** Wraps a connection so that it loses one of its broadcasts. */
export function losing(port: MessagePort, lost: number): MessagePort {
  const { port1, port2 } = new MessageChannel()
  let carried = 0
  port.on('message', (message) => {
    if (!('changes' in message) || ++carried !== lost) port1.postMessage(message)
  })
  port1.on('message', (message) => port.postMessage(message))
  port1.on('close', () => port.close())
  return port2
}

/** Reads a watch to its end. */
export async function drain(watch: AsyncIterable<Batch>): Promise<void> {
  for await (const _ of watch);
}
