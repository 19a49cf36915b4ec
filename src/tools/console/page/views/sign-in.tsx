/**
 * The sign-in page. Users sign in with a token, the browser's client certificate, or the link that `orch up` printed.
 */

import { useEffect, useState } from 'preact/hooks'
import { messageOf } from '../../../../base/text/errors.ts'
import { signIn, signInWithLink, takeLink } from '../core/session.ts'
import { displayText } from '../core/text.ts'
import icon from '../icon.svg'
import { Notice } from '../parts/display.tsx'

export function SignIn({ notice }: { readonly notice: string }) {
  const [isBusy, setBusy] = useState(false)
  const [failure, setFailure] = useState('')
  const attempt = async (run: () => Promise<void>) => {
    setBusy(true)
    setFailure('')
    try {
      await run()
    } catch (error) {
      setBusy(false)
      setFailure(messageOf(error))
    }
  }
  useEffect(() => {
    const link = takeLink()
    if (link !== undefined) void attempt(() => signInWithLink(link))
  }, [])
  return (
    <main class="sign-in">
      <div class="sign-in-box">
        <img src={icon} alt="" width="48" height="48" />
        <h1>orch console</h1>
        {notice !== '' && <Notice tone="warn" title={notice} />}
        <TokenForm isBusy={isBusy} onToken={(token) => void attempt(() => signIn('token', token))} />
        <p class="or">or</p>
        <button type="button" disabled={isBusy} onClick={() => void attempt(() => signIn('certificate', undefined))}>
          Use the client certificate of this browser
        </button>
        {failure !== '' && (
          <Notice tone="bad" title="That did not work">
            {displayText(failure)}
          </Notice>
        )}
        <p class="hint">
          In a terminal <code>orch up</code> prints a link that signs you in once. The token stays in the memory of this
          page: reloading it signs you out.
        </p>
      </div>
    </main>
  )
}

function TokenForm({ isBusy, onToken }: { readonly isBusy: boolean; readonly onToken: (token: string) => void }) {
  const [token, setToken] = useState('')
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        onToken(token.trim())
      }}
    >
      <label for="token">Token</label>
      <input
        id="token"
        type="password"
        autocomplete="off"
        spellcheck={false}
        value={token}
        onInput={({ currentTarget }) => setToken(currentTarget.value)}
        required
      />
      <button type="submit" class="primary" disabled={isBusy}>
        Sign in
      </button>
    </form>
  )
}
