/**
 * The port that all workers will listen on. They share it, which the system allows to every program of the same user: so
 * it is first taken alone, for a moment, which fails where another program has it. A free one is chosen in the same way.
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
