/**
 * The port that all workers listen on. Sharing a port would succeed even if another program of the same user has it, so
 * the port is first opened exclusively for a moment, which then fails. A free port is chosen in the same way.
 */
import { once } from 'node:events'
import { createServer } from 'node:net'
import { explained } from '../assembly/listener.ts'
import type { ServerOptions } from '../flags/options.ts'

export async function choosePort(options: Pick<ServerOptions, 'bindAddress' | 'securePort'>): Promise<number> {
  const probe = createServer()
  try {
    probe.listen({ host: options.bindAddress, port: options.securePort })
    await once(probe, 'listening')
    const address = probe.address()
    return typeof address === 'object' && address !== null ? address.port : options.securePort
  } catch (error) {
    throw explained(error as NodeJS.ErrnoException, options)
  } finally {
    await new Promise((resolve) => probe.close(resolve))
  }
}
