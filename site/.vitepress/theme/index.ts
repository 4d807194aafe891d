import '@shikijs/vitepress-twoslash/style.css';
import TwoslashFloatingVue from '@shikijs/vitepress-twoslash/client';
import type { Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme';
import Playground from './Playground.vue';
import './style.css';

const theme: Theme = {
  extends: DefaultTheme,
  enhanceApp({ app }) {
    app.use(TwoslashFloatingVue);
    app.component('Playground', Playground);
  },
};
export default theme;
