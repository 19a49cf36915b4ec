/** The access page. It shows who may perform an action, and why a user may or may not perform it. */
import { useState } from 'preact/hooks'
import {
  type Explanation,
  explainAccess,
  type ResourceAction,
  type Subject,
  type WhoCan,
  whoCan,
} from '../core/access.ts'
import { type Type, useConsoleContext } from '../core/kinds.ts'
import { displayText } from '../core/text.ts'
import { Card, Notice, PageHead } from '../parts/display.tsx'
import { Failure, Why } from '../parts/failure.tsx'
import { type PlainRow, PlainTable } from '../parts/plain-table.tsx'

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

/** The values that the user has entered in the form. */
interface Asked {
  readonly verb: string
  /** Resource type to check, as `group/plural`. */
  readonly place: string
  readonly namespace: string
  readonly name: string
  readonly user: string
  readonly groups: string
}

export function AccessPage() {
  const consoleContext = useConsoleContext()
  const { types } = consoleContext.kinds.store.value
  const [accessQuestion, setAsked] = useState<Asked>({
    verb: 'get',
    place: '/pods',
    namespace: 'default',
    name: '',
    user: '',
    groups: '',
  })
  const [answer, setAnswer] = useState<Answer | undefined>()
  const answerWith = async (coming: Promise<Answer>) => setAnswer(await coming.catch((failed: unknown) => ({ failed })))
  const askWho = () => answerWith(whoCan(consoleContext, actionIn(accessQuestion, types)).then((who) => ({ who })))
  const askWhy = () => {
    const groups = accessQuestion.groups
      .split(',')
      .map((each) => each.trim())
      .filter((each) => each !== '')
    const question = { action: actionIn(accessQuestion, types), user: accessQuestion.user, groups }
    return answerWith(explainAccess(consoleContext, question).then((why) => ({ why })))
  }
  return (
    <>
      <PageHead title="Access" />
      <Question
        accessQuestion={accessQuestion}
        onChange={setAsked}
        onWho={() => void askWho()}
        onWhy={() => void askWhy()}
      />
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
  readonly accessQuestion: Asked
  readonly onChange: (accessQuestion: Asked) => void
  readonly onWho: () => void
  readonly onWhy: () => void
}

function Question({ accessQuestion, onChange, onWho, onWhy }: QuestionProps) {
  const { kinds } = useConsoleContext()
  const { types } = kinds.store.value
  const set = (changes: Partial<Asked>) => onChange({ ...accessQuestion, ...changes })
  return (
    <form class="questions" onSubmit={(event) => event.preventDefault()}>
      <div class="filters">
        <label>
          <span>Verb</span>
          <select value={accessQuestion.verb} onChange={({ currentTarget }) => set({ verb: currentTarget.value })}>
            {verbs.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
        <label>
          <span>Resource</span>
          <select value={accessQuestion.place} onChange={({ currentTarget }) => set({ place: currentTarget.value })}>
            {types.map((each) => (
              <option key={`${each.group}/${each.plural}`} value={`${each.group}/${each.plural}`}>
                {displayText(each.plural, 60)} {each.group !== '' && `(${displayText(each.group, 60)})`}
              </option>
            ))}
          </select>
        </label>
        <TextField
          label="Namespace (empty: all)"
          value={accessQuestion.namespace}
          onInput={(namespace) => set({ namespace })}
        />
        <TextField label="Name (empty: any)" value={accessQuestion.name} onInput={(name) => set({ name })} />
        <div class="actions">
          <button type="button" class="primary" onClick={onWho}>
            Who can?
          </button>
        </div>
      </div>
      <div class="filters">
        <TextField label="User (empty: you)" value={accessQuestion.user} onInput={(user) => set({ user })} />
        <TextField
          label="Groups, separated by commas"
          value={accessQuestion.groups}
          onInput={(groups) => set({ groups })}
        />
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
        <Notice key={note} tone={incomplete ? 'warn' : 'info'} title={displayText(note, 500)} />
      ))}
      <PlainTable
        label="Subjects"
        columns={['Subject', 'Role', 'Binding']}
        rows={subjects.slice(0, 500).map(subjectRow)}
      />
    </Card>
  )
}

function subjectRow({ kind, name, namespace, role, binding }: Subject, i: number): PlainRow {
  const subject = (
    <>
      {displayText(kind, 30)} <strong>{displayText(namespace ? `${namespace}/${name}` : name, 200)}</strong>
    </>
  )
  return { key: String(i), cells: [subject, displayText(role, 200), displayText(binding, 200)] }
}
