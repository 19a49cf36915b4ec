/** The console: a page that shows and changes the objects of a server, as the user who signs in. */
import { render } from 'preact'
import './style/base.css'
import './style/layout.css'
import './style/parts.css'
import './style/pages.css'
import { App } from './views/app.tsx'

render(<App />, document.getElementById('console')!)
