/** Implements `orchctl set serviceaccount`, which sets the service account of pods. */
import { UsageError } from '../../../../base/flags/flags.ts'
import { defineCommand } from '../../program/command.ts'
import { changePodSpec, setFlags, setInObjects } from './pod-spec.ts'

export const setServiceAccountCommand = defineCommand({
  name: 'set serviceaccount',
  forms: ['(TYPE NAME | TYPE/NAME | -f FILE | TYPE -l SELECTOR | TYPE --all) SERVICE_ACCOUNT [flags]'],
  about: 'Set the service account in the pod template of a workload.',
  examples: ['orchctl set serviceaccount deployment/web robot'],
  flags: setFlags,
  run: async (context, { options, words }) => {
    const account = words.at(-1)
    if (account === undefined || account.includes('/'))
      throw new UsageError('no service account specified: add the name after the objects')
    await setInObjects(
      context,
      { words: words.slice(0, -1), options },
      {
        set: () => (object) =>
          changePodSpec(object, (spec) => ({ ...spec, serviceAccountName: account, serviceAccount: account })),
        done: 'serviceaccount updated',
        unchanged: 'serviceaccount updated',
      },
    )
  },
})
