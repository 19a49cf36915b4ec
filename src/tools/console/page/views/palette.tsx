/** The palette (Ctrl-K), which takes users to any page, kind or namespace, or to an object by name. */
import type { TargetedKeyboardEvent } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { type Type, useConsoleContext } from '../core/kinds.ts'
import { useObjects } from '../core/objects.ts'
import { go, listAddress, objectAddress } from '../core/route.ts'
import { displayText } from '../core/text.ts'
import { workPages } from '../operations/all.ts'
import { Dialog } from '../parts/dialog.tsx'

interface Goal {
  readonly title: string
  readonly about: string
  readonly to: string
}

const pages: readonly Goal[] = [
  { title: 'Overview', about: 'page', to: '#/' },
  ...workPages.map(({ name, title, paletteTitle = title }) => ({
    title: paletteTitle,
    about: 'page',
    to: `#/operations/${name}`,
  })),
]

const most = 12

export function Palette({ onClose }: { readonly onClose: () => void }) {
  const { kinds } = useConsoleContext()
  const { types } = kinds.store.value
  const namespaces = useObjects(kinds.builtIn('namespaces', '')).objects
  const [text, setText] = useState('')
  const [selectedIndex, setSelectedIndex] = useState(0)
  const names = namespaces.map(({ metadata }) => metadata.name ?? '')
  const matchingGoals = goalsFor(text, types, names)
  // Use a ref, because several keys may be pressed before the list is rendered again.
  const latest = useRef(0)
  const choose = (index: number) => {
    latest.current = index
    setSelectedIndex(index)
  }
  const take = (goal: Goal | undefined) => {
    if (goal === undefined) return
    onClose()
    go(goal.to)
  }
  const onKey = (event: TargetedKeyboardEvent<HTMLInputElement>) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    const goals = goalsFor(event.currentTarget.value, types, names)
    if (step !== 0) choose((latest.current + step + goals.length) % Math.max(1, goals.length))
    else if (event.key === 'Enter') take(goals[latest.current])
    else return
    event.preventDefault()
  }
  return (
    <Dialog title="Jump to a page, a kind or an object" onClose={onClose} class="palette">
      <input
        autofocus
        role="combobox"
        aria-expanded="true"
        aria-controls="goals"
        aria-activedescendant={matchingGoals.length > 0 ? `goal-${selectedIndex}` : undefined}
        aria-label="Jump to"
        placeholder="A kind, a page, or kind namespace/name"
        spellcheck={false}
        value={text}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value)
          choose(0)
        }}
        onKeyDown={onKey}
      />
      <Goals goals={matchingGoals} selectedIndex={selectedIndex} onTake={take} />
      {matchingGoals.length === 0 && <p class="hint">Nothing has this name.</p>}
    </Dialog>
  )
}

interface GoalsProps {
  readonly goals: readonly Goal[]
  readonly selectedIndex: number
  readonly onTake: (goal: Goal) => void
}

function Goals({ goals, selectedIndex, onTake }: GoalsProps) {
  return (
    <div id="goals" role="listbox" aria-label="Where to">
      {goals.map((goal, i) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the text field keeps the focus and handles the keys
        <div
          key={goal.to}
          class="goal"
          tabIndex={-1}
          id={`goal-${i}`}
          role="option"
          aria-selected={i === selectedIndex}
          onClick={() => onTake(goal)}
        >
          <span>{displayText(goal.title, 120)}</span>
          <small>{displayText(goal.about, 80)}</small>
        </div>
      ))}
    </div>
  )
}

/**
 * Returns the destinations for a text. `deploy web` or `deploy team-a/web` leads to an object's page, even if the
 * object does not exist.
 */
function goalsFor(text: string, types: readonly Type[], namespaces: readonly string[]): Goal[] {
  const [word = '', name = ''] = text.trim().toLowerCase().split(/\s+/, 2)
  const listableTypes = types.filter(({ verbs }) => verbs.includes('list'))
  const matching = listableTypes.filter((type) => matches(type, word)).sort((a, b) => rank(a, word) - rank(b, word))
  if (name !== '') return matching.slice(0, most).map((type) => objectGoal(type, name))
  return [
    ...pages.filter(({ title }) => title.toLowerCase().includes(word)),
    ...matching.map((type) => ({ title: type.kind, about: type.group || 'core', to: listAddress(type) })),
    ...namespaces
      .filter((each) => word !== '' && each.includes(word))
      .map((each) => ({
        title: each,
        about: 'namespace',
        to: objectAddress({ group: '', version: 'v1', plural: 'namespaces' }, { name: each }),
      })),
  ].slice(0, most)
}

function objectGoal(type: Type, name: string): Goal {
  const [namespace, rest] = name.includes('/') ? (name.split('/', 2) as [string, string]) : ['default', name]
  if (type.namespaced && rest === '')
    return { title: type.kind, about: `in ${namespace}`, to: listAddress(type, [['namespace', namespace]]) }
  const objectName = type.namespaced ? { namespace, name: rest } : { name: rest || namespace }
  return { title: `${type.kind} ${name}`, about: 'object', to: objectAddress(type, objectName) }
}

function matches({ plural, kind, shortNames }: Type, word: string): boolean {
  return plural.includes(word) || kind.toLowerCase().includes(word) || shortNames.includes(word)
}

function rank({ plural, kind, shortNames }: Type, word: string): number {
  if (shortNames.includes(word) || plural === word || kind.toLowerCase() === word) return 0
  return plural.startsWith(word) ? 1 : 2
}
