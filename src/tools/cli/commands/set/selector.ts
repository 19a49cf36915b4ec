/** Implements `orchctl set selector`, which sets the selector of a service. */

import { asJson, asObject } from '../../../../api/model/object.ts'
import { UsageError } from '../../../../base/flags/flags.ts'
import { readSelectorLabels } from '../../arguments/pairs.ts'
import { resourceVersionFlag } from '../../changes/patch-command.ts'
import { defineCommand } from '../../program/command.ts'
import { setFlags, setInObjects } from './pod-spec.ts'

const { selector: _selector, ...rest } = setFlags
const flags = { ...rest, resourceVersion: resourceVersionFlag }

export const setSelectorCommand = defineCommand({
  name: 'set selector',
  forms: ['(service NAME | service/NAME | -f FILE | services --all) KEY=VALUE,... [flags]'],
  about: 'Replace the pod selector of a service.',
  examples: ['orchctl set selector service web app=web,tier=front'],
  flags,
  run: async (context, { options, words }) => {
    const labels = words.at(-1)
    if (labels === undefined || !/[=!]| in | notin /.test(labels))
      throw new UsageError('no selector specified: add KEY=VALUE,... after the objects')
    const selector = readSelectorLabels(labels)
    await setInObjects(
      context,
      { words: words.slice(0, -1), options: { ...options, selector: '' } },
      {
        set: () => (object) => {
          if (object.kind !== 'Service' || object.apiVersion !== 'v1')
            throw new UsageError('setting a selector is only supported for Services')
          const { spec } = object as { spec?: object }
          return asObject(asJson({ ...object, spec: { ...spec, selector } }))
        },
        done: 'selector updated',
        unchanged: 'selector updated',
      },
    )
  },
})
