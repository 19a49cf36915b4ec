/** Access page: who may do something, and why a user may or may not. */
import { useState } from 'preact/hooks'
import {
  type Explanation,
  explainAccess,
  type ResourceAction,
  type Subject,
  type WhoCan,
  whoCan,
} from '../core/access.ts'
import { type Type, useSurroundings } from '../core/kinds.ts'
import { shown } from '../core/text.ts'
import { Failure, Why } from '../parts/failure.tsx'
import { type PlainRow, PlainTable } from '../parts/plain-table.tsx'
import { Card, Notice, PageHead } from '../parts/shown.tsx'

type Answer = { readonly who: WhoCan } | { readonly why: Explanation } | { readonly failed: unknown }

const verbs = [
  'get',
  'list',
  'watch',
  'create',
  'update',
  'patch',
  'delete',
  'deletecollection',
  'impersonate',
  'bind',
  'escalate',
  '*',
]

/** Content of the form. */
interface Asked {
  readonly verb: string
  /** `group/plural`. */
  readonly place: string
  readonly namespace: string
  readonly name: string
  readonly user: string
  readonly groups: string
}

export function AccessPage() {
  const around = useSurroundings()
  const { types } = around.kinds.store.value
  const [asked, setAsked] = useState<Asked>({
    verb: 'get',
    place: '/pods',
    namespace: 'default',
    name: '',
    user: '',
    groups: '',
  })
  const [answer, setAnswer] = useState<Answer | undefined>()
  const answerWith = async (coming: Promise<Answer>) => setAnswer(await coming.catch((failed: unknown) => ({ failed })))
  const askWho = () => answerWith(whoCan(around, actionIn(asked, types)).then((who) => ({ who })))
  const askWhy = () => {
    const groups = asked.groups
      .split(',')
      .map((each) => each.trim())
      .filter((each) => each !== '')
    const question = { action: actionIn(asked, types), user: asked.user, groups }
    return answerWith(explainAccess(around, question).then((why) => ({ why })))
  }
  return (
    <>
      <PageHead title="Access" />
      <Question asked={asked} onChange={setAsked} onWho={() => void askWho()} onWhy={() => void askWhy()} />
      <div role="status">{answer !== undefined && <Answered answer={answer} />}</div>
    </>
  )
}

function actionIn({ verb, place, namespace, name }: Asked, types: readonly Type[]): ResourceAction {
  const [group = '', resource = ''] = place.split('/', 2)
  const type = types.find((each) => each.group === group && each.plural === resource)
  return {
    verb,
    group,
    resource,
    ...(type?.namespaced !== false && namespace !== '' && { namespace }),
    ...(name !== '' && { name }),
  }
}

interface QuestionProps {
  readonly asked: Asked
  readonly onChange: (asked: Asked) => void
  readonly onWho: () => void
  readonly onWhy: () => void
}

function Question({ asked, onChange, onWho, onWhy }: QuestionProps) {
  const { kinds } = useSurroundings()
  const { types } = kinds.store.value
  const set = (changes: Partial<Asked>) => onChange({ ...asked, ...changes })
  return (
    <form class="questions" onSubmit={(event) => event.preventDefault()}>
      <div class="filters">
        <label>
          <span>Verb</span>
          <select value={asked.verb} onChange={({ currentTarget }) => set({ verb: currentTarget.value })}>
            {verbs.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
        <label>
          <span>Resource</span>
          <select value={asked.place} onChange={({ currentTarget }) => set({ place: currentTarget.value })}>
            {types.map((each) => (
              <option key={`${each.group}/${each.plural}`} value={`${each.group}/${each.plural}`}>
                {shown(each.plural, 60)} {each.group !== '' && `(${shown(each.group, 60)})`}
              </option>
            ))}
          </select>
        </label>
        <TextField label="Namespace (empty: all)" value={asked.namespace} onInput={(namespace) => set({ namespace })} />
        <TextField label="Name (empty: any)" value={asked.name} onInput={(name) => set({ name })} />
        <div class="actions">
          <button type="button" class="primary" onClick={onWho}>
            Who can?
          </button>
        </div>
      </div>
      <div class="filters">
        <TextField label="User (empty: you)" value={asked.user} onInput={(user) => set({ user })} />
        <TextField label="Groups, by commas" value={asked.groups} onInput={(groups) => set({ groups })} />
        <div class="actions">
          <button type="button" onClick={onWhy}>
            May they, and why?
          </button>
        </div>
      </div>
    </form>
  )
}

interface TextFieldProps {
  readonly label: string
  readonly value: string
  readonly onInput: (value: string) => void
}

function TextField({ label, value, onInput }: TextFieldProps) {
  return (
    <label>
      <span>{label}</span>
      <input value={value} spellcheck={false} onInput={({ currentTarget }) => onInput(currentTarget.value)} />
    </label>
  )
}

function Answered({ answer }: { readonly answer: Answer }) {
  if ('failed' in answer) return <Failure error={answer.failed} />
  if ('why' in answer)
    return (
      <Card title="Why" wide>
        <Why explanation={answer.why} />
      </Card>
    )
  const { subjects, notes = [], incomplete } = answer.who
  return (
    <Card title={`${subjects.length} ${subjects.length === 1 ? 'subject' : 'subjects'} can`} wide>
      {notes.map((note) => (
        <Notice key={note} tone={incomplete ? 'warn' : 'info'} title={shown(note, 500)} />
      ))}
      <PlainTable
        label="Subjects"
        columns={['Subject', 'By the role', 'Through the binding']}
        rows={subjects.slice(0, 500).map(subjectRow)}
      />
    </Card>
  )
}

function subjectRow({ kind, name, namespace, role, binding }: Subject, i: number): PlainRow {
  const subject = (
    <>
      {shown(kind, 30)} <strong>{shown(namespace ? `${namespace}/${name}` : name, 200)}</strong>
    </>
  )
  return { key: String(i), cells: [subject, shown(role, 200), shown(binding, 200)] }
}
