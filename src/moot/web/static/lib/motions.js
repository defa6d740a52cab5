// Suggested motions: light and serious, and not all in English.

export const FIRST = 'Should cities ban private cars?';

/** Shown beside the motion. */
export const EXAMPLES = [
  'Is mathematics discovered or invented?',
  'Is a hot dog a sandwich?',
  'Should AI development be regulated?',
];

const MOTIONS = [
  FIRST,
  ...EXAMPLES,
  'This house would abolish homework',
  'A four-day week should be the law',
  'Tabs are better than spaces',
  'Every citizen should do a year of public service',
  'Zoos do more good than harm',
  'We should colonise Mars before we have saved the Earth',
  'Pineapple belongs on pizza',
  'Voting should be compulsory',
  'Cats are better company than dogs',
  'Museums should return what was taken',
  'Social media has done more harm than good',
  'The best way to sort a million records is not to sort them',
  'Nuclear power is the answer to climate change',
  'Cash should be abolished',
  'Handwriting should no longer be taught',
  'It is better to be feared than loved',
  'Billionaires should not exist',
  'Free will is an illusion',
  'Science fiction predicts better than economists do',
  'A ship whose planks have all been replaced is a new ship',
  'Meat from animals should be banned by 2050',
  'The Oxford comma is worth defending',
  'Art made by a machine is art',
  'Children should be allowed to vote',
  'Remote work is bad for the young',
  'The Olympic Games should always be held in one place',
  'Anonymity on the internet should end',
  'Winter is the best of the four seasons',
  'Space exploration should be left to private companies',
  'A universal basic income would make people freer',
  'Static types are worth their trouble',
  'The book is always better than the recording',
  'Advertising to children should be forbidden',
  'We have a duty to have no secrets from our friends',
  'Monarchies should be abolished',
  'Schreibschrift soll an Schulen weiter gelehrt werden',
  'Faut-il interdire les voitures dans les centres-villes ?',
  '¿Debería ser obligatorio el voto?',
  '人工智能应该拥有法律人格吗？',
  '電子書籍は紙の本に取って代わるべきか',
  'هل ينبغي أن يكون التعليم الجامعي مجانيًا للجميع؟',
];

/** A random motion other than `not`; `random` is passed in for tests. */
export function surprise(not, dice = Math.random) {
  const others = MOTIONS.filter((motion) => motion !== not);
  return others[Math.floor(dice() * others.length)];
}
