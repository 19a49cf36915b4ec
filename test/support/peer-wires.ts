/**
 * Connects the members of an etcd cluster through proxies, so that a test can disconnect a member from the others. Each
 * member has a proxy, whose address the other members use. The proxy identifies the sender of a connection by the head
 * of its first request.
 */
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

export interface PeerWire {
  readonly url: string
  /**
   * Breaks the connections and rejects new connections from all members, or from the members with the given hexadecimal
   * IDs.
   */
  refuse(from: 'all' | readonly string[]): void
  close(): Promise<void>
}

interface Link {
  readonly client: Socket
  /** ID of the sender. Undefined until the first request has arrived. */
  from: string | undefined
}

export async function startPeerWire(targetPort: number): Promise<PeerWire> {
  const links = new Set<Link>()
  let refused: 'all' | readonly string[] = []
  const isRefused = ({ from }: Link) => refused === 'all' || (from !== undefined && refused.includes(from))
  const cutRefused = () => {
    for (const link of links) if (isRefused(link)) link.client.destroy()
  }
  const server = createServer((client) => {
    const link: Link = { client, from: undefined }
    links.add(link)
    client.on('close', () => links.delete(link))
    if (refused === 'all') client.destroy()
    else carry(link, targetPort, cutRefused)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    refuse(from) {
      refused = from
      cutRefused()
    },
    close: () => closeAll(server, links),
  }
}

/** Buffers the first bytes until they identify the sender. */
function carry(link: Link, targetPort: number, onFrom: () => void): void {
  const { client } = link
  const upstream = connect(targetPort, '127.0.0.1')
  let head = Buffer.alloc(0)
  client.on('data', (chunk: Buffer) => {
    if (link.from !== undefined) return void (upstream.writable && upstream.write(chunk))
    head = Buffer.concat([head, chunk])
    if (!head.includes('\r\n\r\n')) return
    link.from = /^x-server-from: *([0-9a-f]+)/im.exec(head.toString('latin1'))?.[1] ?? ''
    onFrom()
    if (!client.destroyed) upstream.write(head)
  })
  upstream.on('data', (chunk) => client.writable && client.write(chunk))
  for (const [one, other] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    one.on('error', () => other.destroy())
    one.on('close', () => other.destroy())
  }
}

async function closeAll(server: Server, links: ReadonlySet<Link>): Promise<void> {
  for (const { client } of links) client.destroy()
  await new Promise((resolve) => server.close(resolve))
}
