/** Implements `orchctl set image`, which sets container images. */

import type { ApiObject } from '../../../../api/model/object.ts'
import { UsageError } from '../../../../base/flags/flags.ts'
import { defineCommand } from '../../program/command.ts'
import { changeContainers, namesContainer, setFlags, setInObjects, splitWords } from './pod-spec.ts'

export const setImageCommand = defineCommand({
  name: 'set image',
  forms: ['(TYPE NAME | TYPE/NAME | -f FILE | TYPE -l SELECTOR | TYPE --all) CONTAINER=IMAGE... [flags]'],
  about: 'Set the images of containers. `*` selects all containers.',
  examples: [
    'orchctl set image deployment/web nginx=nginx:1.25',
    "orchctl set image deployments --all '*=registry.example.com/app:2'",
    'orchctl set image -f web.yaml nginx=nginx:1.25 --local -o yaml',
  ],
  flags: setFlags,
  run: async (context, { options, words }) => {
    const { subjects, changes } = splitWords(words, (word) => word.includes('='))
    if (changes.length === 0) throw new UsageError('no image specified: use CONTAINER=IMAGE')
    const images = changes.map(readChange)
    await setInObjects(context, { words: subjects, options }, { set: () => setter(images), done: 'image updated' })
  },
})

interface ImageChange {
  readonly container: string
  readonly image: string
}

function readChange(word: string): ImageChange {
  const equals = word.indexOf('=')
  const container = word.slice(0, equals)
  const image = word.slice(equals + 1)
  if (equals <= 0 || image === '') throw new UsageError(`${JSON.stringify(word)} must have the form CONTAINER=IMAGE`)
  return { container, image }
}

function setter(images: readonly ImageChange[]): (object: ApiObject) => ApiObject {
  return (object) => {
    const used = new Set<ImageChange>()
    const names: string[] = []
    const next = changeContainers(
      object,
      (container) => {
        names.push(container.name)
        const fitting = images.filter((change) => namesContainer(change.container, container.name))
        for (const change of fitting) used.add(change)
        const last = fitting.at(-1)
        return last === undefined ? container : { ...container, image: last.image }
      },
      { withInit: true },
    )
    const unused = images.find((change) => !used.has(change) && change.container !== '*')
    if (unused !== undefined)
      throw new UsageError(
        `unable to find container named ${JSON.stringify(unused.container)}; ${object.metadata.name} has: ${names.join(', ')}`,
      )
    return next
  }
}
