/**
 * Implements `orchctl cp`, which copies files and directories to and from a container. The command runs `tar` in the
 * container.
 */

import { createReadStream, lstatSync, readdirSync, statSync } from 'node:fs'
import { basename, join, posix, resolve } from 'node:path'
import { flag, type OptionsOf, text, toggle, UsageError } from '../../../../base/flags/flags.ts'
import * as kinds from '../../../../client/requests/built-in-kinds.ts'
import { objectPath } from '../../../../client/requests/resource-type.ts'
import { TransportError } from '../../../../client/requests/transport.ts'
import { endOfArchive, entryHeader, padding, TarReader } from '../../../../wire/streaming/tar.ts'
import { readWhole } from '../../arguments/numbers.ts'
import { withTypedSession } from '../../changes/remove-nulls.ts'
import { connectionFlags } from '../../connection/connection-flags.ts'
import { objectNameIn, type Session } from '../../connection/session.ts'
import { defineCommand, ExitCode } from '../../program/command.ts'
import type { Channels } from '../../streaming/channels.ts'
import { chooseContainer } from '../../streaming/pods.ts'
import { type RemoteCommand, runRemotely } from '../../streaming/remote-command.ts'
import { unpackInto } from '../../streaming/unpack.ts'

const flags = {
  container: flag({
    name: 'container',
    letter: 'c',
    value: 'NAME',
    read: text,
    help: "container name; default: the pod's default container",
  }),
  retries: flag({
    name: 'retries',
    value: 'NUMBER',
    default: '0',
    read: readWhole,
    help: 'number of retries if the connection breaks while copying from a container; -1 retries without limit',
  }),
  noPreserve: toggle({
    name: 'no-preserve',
    help: 'do not preserve the owner and permissions of files that are copied to the container',
  }),
  ...connectionFlags,
}

export const cpCommand = defineCommand({
  name: 'cp',
  forms: ['FILE [NAMESPACE/]POD:PATH [flags]', '[NAMESPACE/]POD:PATH FILE [flags]'],
  about: `Copy files and directories to or from a container. The container must contain tar.

The command never writes outside the target directory, and skips links.`,
  examples: ['orchctl cp ./site web:/var/www', 'orchctl cp shop/web:/var/log/app.log app.log -c app'],
  flags,
  run: async (context, { options, words }) => {
    const [from, to, ...more] = words.map(readPlace)
    if (from === undefined || to === undefined || more.length > 0)
      throw new UsageError('source and destination are required')
    if ((from.pod === '') === (to.pod === ''))
      throw new UsageError('either the source or the destination must be POD:PATH, and the other a local path')
    if (from.path === '' || to.path === '') throw new UsageError('filepath can not be empty')
    await withTypedSession(context, options, async (session) => {
      const inPod = { ...session, namespace: from.namespace || to.namespace || session.namespace }
      if (from.pod === '') await upload(inPod, { from: from.path, to, options })
      else await download(inPod, { from, to: to.path, options })
    })
  },
})

interface Place {
  readonly namespace: string
  /** Name of the pod. It is empty for a local path. */
  readonly pod: string
  readonly path: string
}

/** Splits `POD:PATH` at the colon. A word that starts with a dot or a slash is a local path. */
function readPlace(word: string): Place {
  const colon = word.indexOf(':')
  if (colon <= 0 || /^[./]/.test(word)) return { namespace: '', pod: '', path: word }
  const [namespace = '', pod, ...more] = word.slice(0, colon).split('/')
  if (more.length > 0) throw new UsageError(`${JSON.stringify(word)} must have the form [NAMESPACE/]POD:PATH`)
  return { namespace: pod === undefined ? '' : namespace, pod: pod ?? namespace, path: word.slice(colon + 1) }
}

interface Copying {
  readonly options: OptionsOf<typeof flags>
}

/** Returns the parameters for running commands in the pod. */
async function remoteOf(session: Session, pod: string, { options }: Copying): Promise<Omit<RemoteCommand, 'command'>> {
  const name = objectNameIn(session, kinds.Pod, pod)
  const podObject = await session.client.get(kinds.Pod, name, { signal: session.context.signal })
  const { name: container = '' } = chooseContainer(session, podObject, options)
  return { path: objectPath(kinds.Pod, name, 'exec'), container, tty: false }
}

async function upload(session: Session, { from, to, options }: Copying & { from: string; to: Place }): Promise<void> {
  const source = resolve(session.context.directory, from)
  if (lstatSync(source, { throwIfNoEntry: false }) === undefined)
    throw new UsageError(`${from} doesn't exist in local filesystem`)
  const remote = await remoteOf(session, to.pod, { options })
  const { isDirectory, canEnd } = await probe(session, { ...remote, command: ['test', '-d', to.path] })
  const target = posix.normalize(isDirectory ? posix.join(to.path, basename(source)) : to.path)
  const unpack = [
    ...['tar', ...(options.noPreserve ? ['--no-same-permissions', '--no-same-owner'] : [])],
    ...['-xmf', '-', '-C', posix.dirname(target)],
  ]
  const items = [...itemsOf(source, posix.basename(target))]
  await runRemotely(session, {
    ...remote,
    command: canEnd ? unpack : boundedInput(items, unpack),
    input: archiveOf(items),
    onOutput: async (data) => session.context.out(data),
  })
}

/**
 * Wraps a command so that it reads exactly the bytes of the archive. Otherwise, `tar` would wait for more input,
 * because standard input cannot always be closed.
 */
function boundedInput(items: readonly Item[], command: readonly string[]): string[] {
  const size = items.reduce((sum, item) => sum + item.head.length + item.size + padding(item.size).length, 0)
  return ['sh', '-c', 'head -c "$0" | "$@"', String(size + endOfArchive.length), ...command]
}

/** Checks whether the command succeeds, and whether the server can close a single stream. */
async function probe(session: Session, remote: RemoteCommand): Promise<{ isDirectory: boolean; canEnd: boolean }> {
  const quiet = { ...session, context: { ...session.context, err: () => {} } }
  let canEnd = false
  const onOpen = (channels: Channels) => {
    canEnd = channels.canEnd
  }
  try {
    await runRemotely(quiet, { ...remote, onOpen, onOutput: async () => {} })
    return { isDirectory: true, canEnd }
  } catch (error) {
    if (error instanceof ExitCode) return { isDirectory: false, canEnd }
    throw error
  }
}

interface Item {
  readonly head: Buffer
  readonly path: string
  /** Size of the content in bytes, or 0 for a directory. */
  readonly size: number
}

/**
 * Lists a file, or a directory recursively. Follows a link only if the user specified it directly, and skips links
 * inside directories.
 */
function* itemsOf(path: string, name: string): Generator<Item> {
  const stats = statSync(path)
  const mode = stats.mode & 0o777
  const modified = Math.max(0, Math.floor(stats.mtimeMs / 1000))
  if (!stats.isDirectory()) {
    const { size } = stats
    yield { head: entryHeader({ name, type: 'file', mode, size }, modified), path, size }
    return
  }
  yield { head: entryHeader({ name: `${name}/`, type: 'directory', mode, size: 0 }, modified), path, size: 0 }
  for (const entry of readdirSync(path, { withFileTypes: true }))
    if (entry.isDirectory() || entry.isFile()) yield* itemsOf(join(path, entry.name), `${name}/${entry.name}`)
}

async function* archiveOf(items: readonly Item[]): AsyncGenerator<Buffer> {
  for (const { head, path, size } of items) {
    yield head
    if (size === 0) continue
    let sentBytes = 0
    for await (const chunk of createReadStream(path, { end: size - 1 })) {
      sentBytes += chunk.length
      yield chunk
    }
    if (sentBytes < size) throw new UsageError(`${path} shrank while it was being copied`)
    yield padding(size)
  }
  yield endOfArchive
}

/**
 * Copies files from a pod. If the connection breaks, retries up to the requested number of times and overwrites the
 * files that have already been written.
 */
async function download(session: Session, copying: Copying & { from: Place; to: string }): Promise<void> {
  for (let remainingRetries = copying.options.retries; ; remainingRetries--) {
    try {
      return await downloadOnce(session, copying)
    } catch (error) {
      session.context.signal.throwIfAborted()
      if (remainingRetries === 0 || !(error instanceof TransportError)) throw error
      session.context.err(`${error.message}; retrying\n`)
    }
  }
}

async function downloadOnce(
  session: Session,
  { from, to, options }: Copying & { from: Place; to: string },
): Promise<void> {
  const { context } = session
  const local = resolve(context.directory, to)
  const isDirectory = statSync(local, { throwIfNoEntry: false })?.isDirectory() === true
  // The contents of a directory (`dir/.`) are copied directly into the target.
  const isContent = /(?:^|\/)\.\/?$/.test(from.path)
  const target = isDirectory && !isContent ? join(local, posix.basename(from.path)) : local
  const unpacker = unpackInto({ prefix: from.path, target, warn: context.err })
  const reader = new TarReader(unpacker)
  try {
    await runRemotely(session, {
      ...(await remoteOf(session, from.pod, { options })),
      command: ['tar', 'cf', '-', from.path],
      onOutput: (data) => reader.write(data),
    })
    await reader.end()
  } finally {
    // After an error, close the file that is being written.
    await unpacker.end()
  }
}
