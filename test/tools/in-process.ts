/**
 * A real server inside the test's own process, over TLS like any other, with its store in memory (`begun-store.ts`) unless
 * its flags name another. `serve` is for tests that only send requests: it costs a tenth of a process of its own
 * (`server.ts`), which is for those that end, kill, restart or measure the server. `startInProcess` is for what no flag can
 * say and no answer tells: kinds that are made at run time, how many watches are under way.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseFlags } from '../../src/base/flags.ts'
import { HttpTransport } from '../../src/client/node/http-transport.ts'
import { allKinds } from '../../src/kinds/all.ts'
import type { Kind } from '../../src/schema/kind.ts'
import { type ApiServer, type Environment, startApiServer } from '../../src/server/api-server.ts'
import { type ServerOptions, serverFlags } from '../../src/server/flags/options.ts'
import { openLog } from '../../src/telemetry/log.ts'
import { keepBeginning, openMemoryStore } from './begun-store.ts'
import { HttpClient } from './http-client.ts'
import { type Ending, type Served, tokens } from './server.ts'

export interface InProcess {
  readonly server: ApiServer
  readonly port: number
  /** A client of an administrator. */
  readonly client: HttpClient
  /** The server's authority. */
  readonly ca: string
  readonly directory: string
  /** Ends the server and removes all that it kept. */
  stop(): Promise<void>
}

/** A server with these flags until the test ends. */
export async function serve(t: Ending, flags: readonly string[] = []): Promise<Served> {
  const directory = newDirectory()
  const options = parseFlags(serverFlags, [
    ...flagsFor(directory),
    `--admin-kubeconfig=${directory}/admin.kubeconfig`,
    ...flags,
  ])
  let output = ''
  const { verbosity: level, loggingFormat: format } = options
  const log = openLog({ level, format, write: (line) => (output += line) })
  const server = await startOn(options, { log, kinds: allKinds, way: flags.join(' ') })
  const authority = readFileSync(join(directory, 'data/pki/ca.crt'), 'utf8')
  const { url } = server
  const port = Number(new URL(url).port)
  const clients = new Set<HttpClient | HttpTransport>()
  const keep = <C extends HttpClient | HttpTransport>(client: C): C => {
    clients.add(client)
    return client
  }
  const credentials = (token = 'admin-token') => ({ server: url, authority, token: () => token })
  t.after(async () => {
    for (const client of clients) client.close()
    await server.stop()
    rmSync(directory, { recursive: true, force: true })
  })
  return {
    directory,
    url,
    port,
    client: (token = 'admin-token') => keep(new HttpClient({ port, token, ca: authority })),
    transport: (token) => keep(new HttpTransport(credentials(token))).send,
    credentials,
    output: () => output,
  }
}

/** Starts a server on a store in memory, or else on the etcd that the options name. `way`: what makes it begin otherwise. */
async function startOn(options: ServerOptions, { way, ...environment }: Environment & { way: string }) {
  if (options.etcdServers.length > 0) return await startApiServer(options, environment)
  const store = await openMemoryStore(way)
  const server = await startApiServer(options, { ...environment, store })
  await keepBeginning(way, store)
  return server
}

function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'orch-test-'))
  writeFileSync(join(directory, 'tokens.csv'), tokens)
  return directory
}

function flagsFor(directory: string): readonly string[] {
  return ['--secure-port=0', `--data-dir=${directory}/data`, `--token-auth-file=${directory}/tokens.csv`]
}

/** In the place of `prepare`: the embedded store, empty. */
export const embedded = async (): Promise<void> => {}

/** `prepare` is given the directory of the data before the server opens it: with it the server has the embedded store. */
export async function startInProcess(
  kinds: readonly Kind[] = allKinds,
  flags: readonly string[] = [],
  prepare?: (data: string) => Promise<void>,
): Promise<InProcess> {
  const directory = newDirectory()
  await prepare?.(join(directory, 'data'))
  const options = parseFlags(serverFlags, [...flagsFor(directory), '--admin-kubeconfig=', ...flags])
  const environment = { log: openLog(), kinds }
  const way = [...flags, ...kinds.map(({ kind }) => kind)].join(' ')
  const server = await (prepare ? startApiServer(options, environment) : startOn(options, { ...environment, way }))
  const ca = readFileSync(join(directory, 'data/pki/ca.crt'), 'utf8')
  const port = Number(new URL(server.url).port)
  const client = new HttpClient({ port, token: 'admin-token', ca })
  return {
    server,
    port,
    client,
    ca,
    directory,
    stop: async () => {
      client.close()
      await server.stop()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
