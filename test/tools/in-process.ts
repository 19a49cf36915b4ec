/**
 * A real server inside the test's own process, for what no flag can say and no
 * answer tells: kinds that are made at run time, how many watches are under way.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseFlags } from '../../src/base/flags.ts'
import { allKinds } from '../../src/kinds/all.ts'
import type { Kind } from '../../src/schema/kind.ts'
import { type ApiServer, startApiServer } from '../../src/server/api-server.ts'
import { serverFlags } from '../../src/server/flags/options.ts'
import { openLog } from '../../src/telemetry/log.ts'
import { HttpClient } from './http-client.ts'
import { tokens } from './server.ts'

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

/** `prepare` is given the directory of the data before the server opens it. */
export async function startInProcess(
  kinds: readonly Kind[] = allKinds,
  flags: readonly string[] = [],
  prepare: (data: string) => Promise<void> = async () => {},
): Promise<InProcess> {
  const directory = mkdtempSync(join(tmpdir(), 'orch-test-'))
  await prepare(join(directory, 'data'))
  writeFileSync(join(directory, 'tokens.csv'), tokens)
  const options = parseFlags(serverFlags, [
    '--secure-port=0',
    `--data-dir=${directory}/data`,
    '--admin-kubeconfig=',
    `--token-auth-file=${directory}/tokens.csv`,
    ...flags,
  ])
  const server = await startApiServer(options, { log: openLog(), kinds })
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
