/**
 * Simulates faults between two processes with a TCP proxy on 127.0.0.1 in front of a server. The mode `pass` forwards
 * bytes in both directions. `slow` delays responses. `mute` forwards requests but drops responses. `deaf` drops
 * requests and responses. `cut` breaks open connections and rejects new ones.
 */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

export type Mode = 'pass' | 'slow' | 'mute' | 'deaf' | 'cut'

const slowMs = 40

export interface Proxy {
  readonly endpoint: string
  set(mode: Mode): void
  close(): Promise<void>
}

export async function startProxy(target: string): Promise<Proxy> {
  const { protocol, hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  let mode: Mode = 'pass'
  const server = createServer((client) => {
    if (mode === 'cut') {
      client.destroy()
      return
    }
    const upstream = connect(Number(port), hostname)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('close', () => sockets.delete(socket))
    }
    join(client, upstream, (carry) => {
      if (mode !== 'deaf') carry()
    })
    join(upstream, client, (carry) => {
      if (mode === 'pass') carry()
      else if (mode === 'slow') setTimeout(carry, slowMs)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const breakAll = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    endpoint: `${protocol}//127.0.0.1:${(server.address() as { port: number }).port}`,
    set(next) {
      mode = next
      if (next === 'cut') breakAll()
    },
    async close() {
      breakAll()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function join(from: Socket, to: Socket, pass: (carry: () => void) => void): void {
  from.on('data', (chunk) => pass(() => to.writable && to.write(chunk)))
  // Each socket ends when the other socket ends or fails.
  from.on('error', () => to.destroy())
  from.on('close', () => to.destroy())
}
