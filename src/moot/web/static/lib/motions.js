// Suggested motions, with what they ask of a model. A very small model needs a concrete policy that one can be for or
// against ("simple"); it cannot define terms, compare values, or argue in other languages than English.

export const FIRST = 'Should cities ban private cars?';

const simple = (text) => ({ text, level: 'simple' });
const open = (text) => ({ text, level: 'open' });

export const MOTIONS = [
  simple(FIRST),
  simple('Should homework be abolished?'),
  simple('Should public transport be free?'),
  open('Is mathematics discovered or invented?'),
  open('Should AI development be regulated?'),
  open('Free will is an illusion'),
  simple('Petrol cars should be banned'),
  simple('School uniforms should be compulsory'),
  simple('Zoos should be closed'),
  simple('Voting should be compulsory'),
  simple('Cash should be abolished'),
  simple('Plastic bags should be banned'),
  simple('University should be free'),
  simple('The voting age should be lower'),
  simple('Mobile phones should be banned in schools'),
  simple('Fast food advertising should be banned'),
  simple('Monarchies should be abolished'),
  open('A four-day week should be the law'),
  open('Tabs are better than spaces'),
  open('Every citizen should do a year of public service'),
  open('Zoos do more good than harm'),
  open('We should colonise Mars before we have saved the Earth'),
  open('Is a hot dog a sandwich?'),
  open('Pineapple belongs on pizza'),
  open('Cats are better company than dogs'),
  open('Museums should return what was taken'),
  open('The best way to sort a million records is not to sort them'),
  open('Nuclear power is the answer to climate change'),
  open('Handwriting should no longer be taught'),
  open('It is better to be feared than loved'),
  open('Billionaires should not exist'),
  open('Social media has done more harm than good'),
  open('Science fiction predicts better than economists do'),
  open('A ship whose planks have all been replaced is a new ship'),
  open('Meat from animals should be banned by 2050'),
  open('The Oxford comma is worth defending'),
  open('Art made by a machine is art'),
  open('Children should be allowed to vote'),
  open('Remote work is bad for the young'),
  open('The Olympic Games should always be held in one place'),
  open('Anonymity on the internet should end'),
  open('Space exploration should be left to private companies'),
  open('A universal basic income would make people freer'),
  open('Static types are worth their trouble'),
  open('Advertising to children should be forbidden'),
  open('We have a duty to have no secrets from our friends'),
  open('Schreibschrift soll an Schulen weiter gelehrt werden'),
  open('Faut-il interdire les voitures dans les centres-villes ?'),
  open('¿Debería ser obligatorio el voto?'),
  open('人工智能应该拥有法律人格吗？'),
  open('電子書籍は紙の本に取って代わるべきか'),
  open('هل ينبغي أن يكون التعليم الجامعي مجانيًا للجميع؟'),
];

const SHOWN = 3;

/** The motions shown below the field, without the one that stands in it; `small`: a very small model speaks. */
export const examples = (small, not) => suited(small ? 'simple' : 'open', not).slice(0, SHOWN);

/** A random motion other than `not`; `random` is passed in for tests. */
export function surprise(small, not, random = Math.random) {
  const motions = suited(small ? 'simple' : null, not);
  return motions[Math.floor(random() * motions.length)];
}

const suited = (level, not) =>
  MOTIONS.filter((motion) => (!level || motion.level === level) && motion.text !== not).map((motion) => motion.text);
