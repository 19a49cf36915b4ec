/** Implements `orchctl exec`, which runs a command in a container. */

import { groupOf } from '../../../../api/model/api-version.ts'
import { flag, text, toggle, UsageError } from '../../../../base/flags/flags.ts'
import * as kinds from '../../../../client/requests/built-in-kinds.ts'
import { objectPath } from '../../../../client/requests/resource-type.ts'
import { fileFlags } from '../../arguments/subjects.ts'
import { withTypedSession } from '../../changes/remove-nulls.ts'
import { connectionFlags } from '../../connection/connection-flags.ts'
import { objectNameIn } from '../../connection/session.ts'
import type { FileName } from '../../manifests/source.ts'
import { type Context, defineCommand } from '../../program/command.ts'
import { chooseContainer, findPod, podRunningTimeoutFlag } from '../../streaming/pods.ts'
import { runRemotely } from '../../streaming/remote-command.ts'

export const interactiveFlags = {
  container: flag({
    name: 'container',
    letter: 'c',
    value: 'NAME',
    read: text,
    help: "container name; default: the pod's default container",
  }),
  stdin: toggle({ name: 'stdin', letter: 'i', help: 'send standard input to the command' }),
  tty: toggle({ name: 'tty', letter: 't', help: 'allocate a terminal' }),
  quiet: toggle({
    name: 'quiet',
    letter: 'q',
    help: 'print only the output of the command, without messages from orchctl',
  }),
  podRunningTimeout: podRunningTimeoutFlag,
}

export const execCommand = defineCommand({
  name: 'exec',
  forms: ['POD [flags] -- COMMAND [arguments]', 'TYPE/NAME [flags] -- COMMAND [arguments]'],
  about: `Run a command in a container of a pod, and exit with its exit code.

For an object with several pods, such as a deployment, orchctl picks one that is ready.`,
  examples: ['orchctl exec web -- date', 'orchctl exec -it deploy/web -c app -- sh'],
  flags: { ...interactiveFlags, filename: fileFlags.filename, ...connectionFlags },
  run: async (context, { options, words }) => {
    const targetOfFile = await namedByFile(context, options.filename)
    const [target, ...command] = targetOfFile === undefined ? words : [targetOfFile, ...words]
    if (target === undefined) throw new UsageError('pod, type/name or --filename must be specified')
    if (command.length === 0) throw new UsageError('you must specify at least one command for the container')
    await withTypedSession(context, options, async (session) => {
      const pod = await findPod(session, [target], options.podRunningTimeout)
      if (pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed')
        throw new UsageError(`cannot exec into a container in a completed pod; current phase is ${pod.status.phase}`)
      const { name = '' } = chooseContainer(session, pod, options)
      const tty = wantsTerminal(session, options)
      await runRemotely(session, {
        path: objectPath(kinds.Pod, objectNameIn(session, kinds.Pod, pod.metadata.name ?? ''), 'exec'),
        container: name,
        command,
        tty,
        input: options.stdin ? context.inputStream() : undefined,
      })
    })
  },
})

/** Returns the single object of the `-f` file as `TYPE.GROUP/NAME`. */
async function namedByFile(context: Context, filename: readonly FileName[]): Promise<string | undefined> {
  if (filename.length === 0) return undefined
  const { readManifests } = await import('../../manifests/manifest.ts')
  const manifests = await readManifests(context, { filename, recursive: false })
  const [manifest] = manifests
  if (manifest === undefined || manifests.length > 1) throw new UsageError('the file must contain exactly one object')
  const { kind, apiVersion, metadata } = manifest.object
  return `${[kind, groupOf(apiVersion)].filter((part) => part !== '').join('.')}/${metadata.name ?? ''}`
}

/** Whether to allocate a terminal. If standard input is not a terminal, prints a warning and returns false. */
export function wantsTerminal(
  { context }: { readonly context: { readonly terminal: { readonly input?: boolean }; err: (text: string) => void } },
  { stdin, tty }: { readonly stdin: boolean; readonly tty: boolean },
): boolean {
  if (!tty) return false
  if (!stdin) throw new UsageError('-i (--stdin) is required for -t (--tty)')
  if (context.terminal.input === true) return true
  context.err('Unable to use a TTY - input is not a terminal or the right kind of file\n')
  return false
}
