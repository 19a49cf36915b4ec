/**
 * `orch reset`: deletes the data directory of a stopped server and the matching administrator's kubeconfig. The command
 * asks for confirmation. It deletes a directory only if the directory contains nothing but a server's files, so that a
 * wrong path is harmless. During the deletion, it holds the directory's lock, so that no server can start.
 */
import { readdir, readFile, rm, rmdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { authorityFiles } from '../../api/pki/authority.ts'
import { type Flags, parseFlags, toggle, UsageError } from '../../base/flags/flags.ts'
import { codeOf } from '../../base/text/errors.ts'
import { lockDirectory } from '../../storage/store/lmdb/directory-lock.ts'
import { bytesText } from '../backup/progress-line.ts'
import { serverFlagGroups } from '../flags/options.ts'

export const resetFlags = {
  dataDir: serverFlagGroups.Storage.dataDir,
  adminKubeconfig: serverFlagGroups.Serving.adminKubeconfig,
  yes: toggle({ name: 'yes', letter: 'y', help: 'delete the data without asking for confirmation' }),
} satisfies Flags

const lockFile = 'claim'
/**
 * Names of the files and directories that a server creates in its data directory, including those in the subdirectories
 * `pki` and `front-proxy`. The files in `compacting` always belong to the server, which deletes them without asking.
 */
const ownEntries = new Set(['data.mdb', 'lock.mdb', lockFile, 'compacting', 'trial.mdb', 'trial.mdb-lock', 'pki'])
const temporaryFile = /\.[0-9a-f]{12}\.tmp$/

export interface ResetTerminal {
  /** Whether a user can answer questions on this terminal. */
  readonly isInteractive: boolean
  /** Asks a question and returns the answer. */
  readonly ask: (question: string) => Promise<string>
}

/** Runs `orch reset` and returns a description of what it did. Throws UsageError if it deletes nothing. */
export async function resetCommand(args: readonly string[], terminal: ResetTerminal): Promise<string> {
  const { dataDir, adminKubeconfig, yes } = parseFlags(resetFlags, args)
  const entries = await entriesOf(dataDir)
  const release = await lockDirectory(dataDir)
  try {
    const kubeconfig = (await belongsTo(adminKubeconfig, dataDir)) ? adminKubeconfig : undefined
    const targets = kubeconfig === undefined ? dataDir : `${dataDir} and ${kubeconfig}`
    if (!yes) await confirm(`${targets} (${bytesText(await storeBytes(dataDir))} of data)`, terminal)
    // The lock file is deleted last, because it prevents servers from using the directory.
    for (const entry of entries.filter((each) => each !== lockFile))
      await rm(join(dataDir, entry), { recursive: true, force: true })
    if (kubeconfig !== undefined) await rm(kubeconfig, { force: true })
    await rm(join(dataDir, lockFile), { force: true })
    const obstacle = await rmdir(dataDir).then(() => undefined, codeOf)
    return `deleted ${targets}\n${obstacle === undefined ? '' : `the directory ${dataDir} remains without data (${obstacle})\n`}`
  } finally {
    release()
  }
}

/** Lists the data directory. Throws UsageError if it is missing or contains files that a server did not create. */
async function entriesOf(directory: string): Promise<readonly string[]> {
  const entries = await list(directory)
  if (entries === undefined)
    throw new UsageError(`the data directory ${directory} does not exist: specify another directory with --data-dir`)
  assertOwn(directory, entries, ownEntries)
  for (const path of ['pki', 'pki/front-proxy']) {
    const files = (await list(join(directory, path))) ?? []
    const names = files.map((name) => name.replace(temporaryFile, ''))
    assertOwn(
      directory,
      names.map((name) => `${path}/${name}`),
      new Set(authorityFiles.map((name) => `${path}/${name}`)),
    )
  }
  if (!entries.includes('data.mdb') && !entries.includes('pki'))
    throw new UsageError(`${directory} is not the data directory of a server: nothing was deleted`)
  return entries.filter((entry) => entry !== 'lost+found')
}

function assertOwn(directory: string, entries: readonly string[], own: ReadonlySet<string>): void {
  const stranger = entries.find((entry) => !own.has(entry) && entry !== 'lost+found')
  if (stranger !== undefined)
    throw new UsageError(
      `${directory} also contains ${JSON.stringify(stranger)}, which the server did not create: nothing was deleted; move it elsewhere and try again`,
    )
}

/** Returns the names in a directory, or undefined if the directory does not exist. */
async function list(directory: string): Promise<readonly string[] | undefined> {
  return await readdir(directory).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined
    throw new UsageError(`cannot read ${directory}: ${codeOf(error)}`)
  })
}

/**
 * Whether the kubeconfig trusts the CA in this data directory. If so, the kubeconfig is useless once the directory has
 * been deleted.
 */
async function belongsTo(kubeconfig: string, directory: string): Promise<boolean> {
  if (kubeconfig === '') return false
  const [text, authority] = await Promise.all([kubeconfig, join(directory, 'pki/ca.crt')].map(textOf))
  return text !== undefined && authority !== undefined && text.includes(Buffer.from(authority).toString('base64'))
}

async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw new UsageError(`cannot read ${file}: ${codeOf(error)}`)
  }
}

async function storeBytes(directory: string): Promise<number> {
  const state = await stat(join(directory, 'data.mdb')).catch(() => undefined)
  return state?.size ?? 0
}

async function confirm(targets: string, { isInteractive, ask }: ResetTerminal): Promise<void> {
  if (!isInteractive) throw new UsageError(`the command would delete ${targets}: confirm with --yes`)
  const answer = await ask(`Delete ${targets}? This cannot be undone. Type yes to continue: `)
  if (answer.trim() !== 'yes') throw new UsageError('nothing was deleted')
}

/** Returns a terminal that uses the standard streams of this process. */
export function processTerminal(): ResetTerminal {
  return {
    isInteractive: process.stdin.isTTY === true,
    ask: async (question) => {
      const prompt = createInterface({ input: process.stdin, output: process.stderr })
      try {
        return await prompt.question(question)
      } finally {
        prompt.close()
      }
    },
  }
}
