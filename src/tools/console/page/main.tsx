/** The console: a page that shows and edits the objects of a server as the signed-in user. */
import { render } from 'preact'
import './style/base.css'
import './style/layout.css'
import './style/parts.css'
import './style/pages.css'
import { App } from './views/app.tsx'

render(<App />, document.getElementById('console')!)
