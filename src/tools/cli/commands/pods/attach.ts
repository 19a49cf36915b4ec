/** Implements `orchctl attach`, which attaches to the main process of a container. */

import { UsageError } from '../../../../base/flags/flags.ts'
import * as kinds from '../../../../client/requests/built-in-kinds.ts'
import { objectPath } from '../../../../client/requests/resource-type.ts'
import { withTypedSession } from '../../changes/remove-nulls.ts'
import { connectionFlags } from '../../connection/connection-flags.ts'
import { objectNameIn } from '../../connection/session.ts'
import { defineCommand } from '../../program/command.ts'
import { chooseContainer, findPod } from '../../streaming/pods.ts'
import { runRemotely } from '../../streaming/remote-command.ts'
import { interactiveFlags, wantsTerminal } from './exec.ts'

export const attachCommand = defineCommand({
  name: 'attach',
  forms: ['POD [flags]', 'TYPE/NAME [flags]'],
  about: 'Attach to a running container and print its new output. With -i, also send standard input to the container.',
  examples: ['orchctl attach web', 'orchctl attach web -c app -it'],
  flags: { ...interactiveFlags, ...connectionFlags },
  run: async (context, { options, words }) => {
    if (words.length !== 1) throw new UsageError('POD or TYPE/NAME is a required argument for the attach command')
    await withTypedSession(context, options, async (session) => {
      const pod = await findPod(session, words, options.podRunningTimeout)
      const container = chooseContainer(session, pod, options)
      if (options.tty && container.tty !== true)
        context.err(`error: Unable to use a TTY - container ${container.name} did not allocate one\n`)
      if (!options.quiet && options.stdin) context.err("If you don't see a command prompt, try pressing enter.\n")
      await runRemotely(session, {
        path: objectPath(kinds.Pod, objectNameIn(session, kinds.Pod, pod.metadata.name ?? ''), 'attach'),
        container: container.name ?? '',
        tty: container.tty === true && wantsTerminal(session, options),
        input: options.stdin ? context.inputStream() : undefined,
      })
    })
  },
})
